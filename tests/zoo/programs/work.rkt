#lang racket/base
(define (area side depth) (if (= depth 0) (* side side) (+ 1 (area side (- depth 1)))))
(define (words)
  (define all (for/list ([i 500]) (format "word~a" (modulo (* i 7919) 500))))
  (for/sum ([word (sort all string>?)]) (if (regexp-match? #rx"([a-z]+)(4[0-9]*)" word) 1 0)))
(define (work) (+ (words) (for/sum ([i 500]) (area i 20))))
(let loop () (work) (loop))
