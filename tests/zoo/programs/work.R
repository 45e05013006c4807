area <- function(side, depth) if (depth == 0) side * side else area(side, depth - 1) + 1
words <- function() {
  all <- sort(paste0("word", (1:500 * 7919) %% 500), decreasing = TRUE)
  sum(grepl("([a-z]+)(4[0-9]*)", all))
}
work <- function() {
  sum <- words()
  for (i in 1:100) sum <- sum + area(i, 20)
  model <- lm(y ~ x, data.frame(x = 1:50, y = (1:50)^2))
  m <- matrix(runif(2500), 50)
  sum + sum(solve(m + diag(50))) + coef(model)[1]
}
repeat work()
