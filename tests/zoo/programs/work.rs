use std::collections::HashMap;
use std::panic;

trait Shape {
    fn area(&self, depth: u32) -> f64;
}

struct Square(f64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, depth: u32) -> f64 {
        if depth == 0 { self.0 * self.0 } else { self.area(depth - 1) + 1.0 }
    }
}

#[inline(never)]
fn words() -> Vec<String> {
    let mut all: Vec<String> = (0..500).map(|i| format!("word{}", i * 7919 % 500)).collect();
    all.sort_by(|a, b| b.cmp(a));
    all
}

#[inline(never)]
fn work() -> f64 {
    let shapes: Vec<Box<dyn Shape>> =
        (0..500).map(|i| Box::new(Square(i as f64)) as Box<dyn Shape>).collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in words() {
        *counts.entry(word).or_insert(0) += 1;
    }
    shapes.iter().map(|s| s.area(20)).sum::<f64>() + counts.len() as f64
}

fn keep(number: f64) {
    unsafe { std::ptr::read_volatile(&number) };
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let thread = std::thread::spawn(|| loop {
        keep(work());
    });
    loop {
        keep(work());
        #[cfg(panic = "unwind")]
        let _ = panic::catch_unwind(|| panic!("caught"));
        if thread.is_finished() {
            break;
        }
    }
}
