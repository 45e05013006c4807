defmodule Work do
  def area(side, 0), do: side * side
  def area(side, depth), do: area(side, depth - 1) + 1

  def words do
    for(i <- 1..300, do: "word#{rem(i * 7919, 300)}")
    |> Enum.sort(&(&1 > &2))
    |> Enum.count(&Regex.match?(~r/([a-z]+)(4[0-9]*)/, &1))
  end

  def work, do: words() + Enum.sum(Enum.map(1..500, &area(&1, 20)))
  def loop do
    work()
    loop()
  end
end

Work.loop()
