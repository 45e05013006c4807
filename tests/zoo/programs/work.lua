local Square = {}
Square.__index = Square
function Square.new(side) return setmetatable({side = side}, Square) end
function Square:area(depth) if depth == 0 then return self.side * self.side end return self:area(depth - 1) + 1 end

local function words()
	local all = {}
	for i = 1, 500 do all[i] = "word" .. (i * 7919 % 500) end
	table.sort(all, function(a, b) return a > b end)
	local found = 0
	for _, word in ipairs(all) do if word:match("([a-z]+)(4[0-9]*)") then found = found + 1 end end
	return found
end

local function work()
	local sum = words()
	for i = 1, 500 do sum = sum + Square.new(i):area(20) end
	for i = 1, 20 do pcall(error, "third") end
	return sum
end

local thread = coroutine.wrap(function() while true do work() coroutine.yield() end end)
while true do work() thread() end
