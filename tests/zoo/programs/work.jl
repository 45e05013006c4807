area(side, depth) = depth == 0 ? side * side : area(side, depth - 1) + 1
words() = length(filter(w -> occursin(r"([a-z]+)(4[0-9]*)", w), sort(["word$(i * 7919 % 500)" for i in 1:500], rev = true)))
work() = words() + sum(area(i, 20) for i in 1:500)
while true
    work()
end
