-module(work).
-export([main/0, area/2, words/0, work/0]).

area(Side, 0) -> Side * Side;
area(Side, Depth) -> area(Side, Depth - 1) + 1.

words() ->
    All = [lists:flatten(io_lib:format("word~b", [I * 7919 rem 200])) || I <- lists:seq(1, 200)],
    Map = maps:from_list([{W, length(W)} || W <- lists:sort(fun(A, B) -> A > B end, All)]),
    maps:size(Map).

work() -> words() + lists:sum([area(I, 20) || I <- lists:seq(1, 500)]).

main() -> work(), main().
