function! Area(side, depth)
	return a:depth == 0 ? a:side * a:side : Area(a:side, a:depth - 1) + 1
endfunction
function! Words()
	let all = map(range(500), {_, i -> 'word' . (i * 7919 % 500)})
	return len(filter(sort(all), 'v:val =~ "\\([a-z]\\+\\)\\(4[0-9]*\\)"'))
endfunction
while 1
	call Words()
	for i in range(50)
		call Area(i, 20)
	endfor
endwhile
