1;
function r = area (side, depth)
  if (depth == 0)
    r = side * side;
  else
    r = area (side, depth - 1) + 1;
  end
end
function n = words ()
  all = cell (1, 200);
  for i = 1:200
    all{i} = sprintf ("word%d", mod (i * 7919, 200));
  end
  all = sort (all);
  n = sum (! cellfun ("isempty", regexp (all, "([a-z]+)(4[0-9]*)", "match")));
end
while true
  s = words ();
  for i = 1:30
    s += area (i, 20);
  end
  a = rand (60);
  s += sum (sum (inv (a + eye (60))));
end
