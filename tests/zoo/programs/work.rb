class Square
  def initialize(side) = @side = side
  def area(depth) = depth == 0 ? @side * @side : area(depth - 1) + 1
end

def thrower(n)
  raise "third" if n % 3 == 0
  n
end

def words
  all = (0...500).map { |i| "word#{i * 7919 % 500}" }
  all.sort { |a, b| b <=> a }.count { |word| word =~ /([a-z]+)(4[0-9]*)/ }
end

def work
  sum = words
  200.times { |i| sum += Square.new(i).area(20) }
  20.times { |i| sum += (thrower(i) rescue 1) }
  sum
end

fiber = Fiber.new { loop { work; Fiber.yield } }
loop { work; fiber.resume }
