/* Functions whose callers are known. "virtual": in a virtual thread, which is taken off its carrier and put
   back all the time. */
public class Chain {
	static long burn(int n) {
		long s = n;

		for (int i = 0; i < 2000; i++)
			s = s * 31 + i;
		return s;
	}

	static long odd(int n) { return even(n) + 1; }
	static long even(int n) { return (n == 0 ? burn(n) : odd(n - 1)) + 1; }
	static long top() { return odd(2) + 1; }

	static void run(boolean yields) {
		for (long s = 0;; s += top()) {
			if (s == 1)
				System.out.println(s);
			if (yields)
				Thread.yield();
		}
	}

	/* Thread.ofVirtual() is of JDK 21. */
	static void runVirtual() throws Exception {
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		Class<?> type = Class.forName("java.lang.Thread$Builder");
		Runnable task = () -> run(true);

		((Thread) type.getMethod("start", Runnable.class).invoke(builder, task)).join();
	}

	public static void main(String[] arguments) throws Exception {
		if (arguments.length > 0 && arguments[0].equals("virtual"))
			runVirtual();
		else
			new Thread(() -> run(false)).start();
	}
}
