function area(side, depth) { return depth == 0 ? side * side : area(side, depth - 1) + 1 }
function words(  i, word, found) {
	for (i = 0; i < 500; i++) {
		word = sprintf("word%d", i * 7919 % 500)
		counts[word]++
		if (word ~ /^[a-z]+4[0-9]*$/) found++
	}
	return found
}
BEGIN { while (1) { sum = words(); for (i = 0; i < 200; i++) sum += area(i, 20) } }
