import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

public class Zoo {
	interface Shape { double area(int depth); }

	static class Square implements Shape {
		final double side;
		Square(double side) { this.side = side; }
		public double area(int depth) { return depth == 0 ? side * side : area(depth - 1) + 1; }
	}

	static final Pattern PATTERN = Pattern.compile("([a-z]+)(4[0-9]*)");

	static int thrower(int n) {
		if (n % 3 == 0)
			throw new IllegalStateException("third");
		return n;
	}

	static int words() {
		List<String> all = new ArrayList<>();
		Map<String, Integer> counts = new HashMap<>();
		for (int i = 0; i < 500; i++)
			all.add("word" + i * 7919 % 500);
		all.sort(Comparator.reverseOrder());
		for (String word : all)
			if (PATTERN.matcher(word).matches())
				counts.merge(word, 1, Integer::sum);
		return counts.size();
	}

	static double work() {
		double sum = words();
		for (int i = 0; i < 500; i++)
			sum += new Square(i).area(20);
		for (int i = 0; i < 20; i++) {
			try {
				sum += thrower(i);
			} catch (IllegalStateException error) {
				sum += 1;
			}
		}
		return sum;
	}

	public static void main(String[] args) {
		double sum = 0;
		for (;;)
			sum += work();
	}
}
