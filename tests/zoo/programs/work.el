;;; -*- lexical-binding: t -*-
(setq max-lisp-eval-depth 5000)
(defun area (side depth) (if (= depth 0) (* side side) (1+ (area side (1- depth)))))
(defun words ()
  (let ((found 0))
    (dolist (word (sort (mapcar (lambda (i) (format "word%d" (% (* i 7919) 500))) (number-sequence 1 500)) #'string<))
      (when (string-match "\\([a-z]+\\)\\(4[0-9]*\\)" word) (setq found (1+ found))))
    found))
(while t
  (words)
  (dotimes (i 200) (area i 20))
  (with-temp-buffer
    (dotimes (i 200) (insert (format "(line %d)\n" i)))
    (emacs-lisp-mode)
    (indent-region (point-min) (point-max))
    (font-lock-ensure)))
