-- SPDX-License-Identifier: GPL-2.0-or-later
-- Lua functions that call each other and never end; % is a function of the interpreter.
local function leaf(x)
	while true do
		x = (x * 16645 + 10139) % 65521.5
		if x == 65521.25 then
			return x
		end
	end
end

local function middle(x)
	local y = leaf(x)
	return y + 1
end

print(middle(5))
