# Runs through chains of calls of every kind, a few microseconds each; test_ruby.py knows them.
class Chain
  include Comparable

  def spin
    i = 0
    i += 1 while i < 60
    i
  end

  def self.single(chain)
    chain.spin
  end

  def plain; plain_two; end
  def plain_two; plain_three; end
  def plain_three; spin; end

  def by_each
    [1].each { |x| each_inner(x) }
  end
  def each_inner(_x); spin; end

  def by_map
    [1].map { |x| [x, x].inject { |_a, _b| map_inner } }
  end
  def map_inner; spin; end

  define_method(:defined) { defined_inner }
  def by_defined; defined; end
  def defined_inner; spin; end

  def by_missing; no_such_method; end
  def method_missing(_name, *_rest); missing_inner; end
  def respond_to_missing?(*_) = true
  def missing_inner; spin; end

  def by_compare; self < self; end
  def <=>(_other)
    compare_inner
    0
  end
  def compare_inner; spin; end

  def by_single; Chain.single(self); end

  def deep(n)
    n.zero? ? spin : deep(n - 1)
  end
  def by_recursion; deep(800); end

  def deep_each(n)
    return spin if n.zero?
    [n].each { |m| deep_each(m - 1) }
  end
  def by_nesting; deep_each(20); end

  def by_raise
    raise_inner
  rescue ArgumentError
    rescue_inner
  ensure
    ensure_inner
  end
  def raise_inner
    [1].each { raise ArgumentError }
  end
  def rescue_inner; spin; end
  def ensure_inner; spin; end

  def by_catch
    catch(:done) { [1].each { catch_inner } }
  end
  def catch_inner
    spin
    throw :done
  end

  def by_break
    [1, 2].each { |x| break_inner; break if x == 1 }
  end
  def break_inner; spin; end

  def by_proc; PROC.call(self); end
  PROC = proc { |chain| chain.proc_inner }
  def proc_inner; spin; end

  def by_method; method(:method_inner).call; end
  def method_inner; spin; end

  def by_symbol; [self].each(&:symbol_inner); end
  def symbol_inner; spin; end

  def by_send; send(:send_inner); end
  def send_inner; spin; end

  def by_eval; instance_eval { eval_inner }; end
  def eval_inner; spin; end

  def by_sort; [2, 1].sort { |_a, _b| sort_inner; 0 }; end
  def sort_inner; spin; end

  def by_hash; Hash.new { |_h, _k| hash_inner }[1]; end
  def hash_inner; spin; end

  def by_gsub; "a".gsub(/a/) { gsub_inner; "b" }; end
  def gsub_inner; spin; end

  def by_string; "#{self}"; end
  def to_s
    string_inner
    ""
  end
  def string_inner; spin; end

  def by_fiber
    FIBER.resume(self)
  end
  FIBER = Fiber.new do |chain|
    loop { chain.fiber_inner; chain = Fiber.yield }
  end
  def fiber_inner; spin; end

  def by_enumerator; ENUMERATOR.next; end
  ENUMERATOR = Enumerator.new do |out|
    chain = Chain.new
    loop { chain.enumerator_inner; out << 1 }
  end
  def enumerator_inner; spin; end

  def by_garbage
    GC.start(full_mark: false) if (@count = (@count || 0) + 1) % 50 == 0
  end

  ALL = instance_methods(false).grep(/\A(by_|plain\z)/)
  eval("def run\n" + ALL.map { |name| "#{name}\n" }.join + "end", binding, __FILE__, 1000)
end

def thread_inner(chain)
  [1].each { chain.spin }
end

def in_thread
  chain = Chain.new
  thread_inner(chain) while true
end

if ARGV[0] == "threads"
  2.times { Thread.new { in_thread } }
end
if ARGV[0] == "sleeps"
  Thread.new { sleep }
end

def forever(chain)
  chain.run while true
end
eval("forever(Chain.new)", binding, __FILE__, __LINE__)
