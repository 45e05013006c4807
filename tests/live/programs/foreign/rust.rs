// SPDX-License-Identifier: GPL-2.0-or-later
//
// Rust: closures, a trait object, catch_unwind, and a destructor that runs because of a panic.
//
//	rust chain [SECONDS]	...;rust::main;rust::one;{closure};two;method of a trait;spin
//	rust drop [SECONDS]	...;rust::main;...catch_unwind...;rust::falls;drop;spin


/// Like std::hint's, which compilers before 1.66 lack.
#[inline(always)]
fn black_box<T: Copy>(x: T) -> T {
    unsafe { std::ptr::read_volatile(&x) }
}

#[inline(never)]
fn spin(mut x: u32) -> u32 {
    loop {
        for _ in 0..10000 {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        }
        if black_box(x) == 1 && black_box(x) == 2 {
            return x;
        }
    }
}

trait Shape {
    fn area(&self, x: u32) -> u32;
}

struct Square([u32; 9]);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, x: u32) -> u32 {
        spin(x) ^ black_box(self.0[3])
    }
}

#[inline(never)]
fn two<F: Fn(u32) -> u32 + ?Sized>(f: &F, x: u32) -> u32 {
    black_box(f(x)) + 1
}

#[inline(never)]
fn one(shape: &dyn Shape, x: u32) -> u32 {
    let local = black_box([x; 20]);
    let closure: Box<dyn Fn(u32) -> u32 + '_> = Box::new(move |y| black_box(shape.area(y)) + local[2]);
    black_box(two(black_box(&*closure), x)) + 2
}

struct Guard(u32);

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        self.0 = black_box(spin(self.0)) + 1;
    }
}

#[inline(never)]
fn falls(x: u32) -> u32 {
    let guard = Guard(black_box(x));
    if black_box(x) != 0 {
        panic!("on purpose");
    }
    guard.0
}

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    if mode == "drop" {
        std::panic::set_hook(Box::new(|_| {}));
        let result = std::panic::catch_unwind(|| black_box(falls(7)));
        println!("{}", result.is_err());
    } else {
        println!("{}", black_box(one(black_box(&Square([3; 9])), 5)));
    }
}
