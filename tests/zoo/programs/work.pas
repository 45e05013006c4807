program zoo;
{$mode objfpc}{$H+}
uses SysUtils, Classes;

type
  TShape = class
    function Area(depth: integer): double; virtual; abstract;
  end;
  TSquare = class(TShape)
    Side: double;
    function Area(depth: integer): double; override;
  end;

function TSquare.Area(depth: integer): double;
begin
  if depth = 0 then Result := Side * Side else Result := Area(depth - 1) + 1;
end;

procedure SortWords;
var list: TStringList; i: integer;
begin
  list := TStringList.Create;
  for i := 0 to 999 do list.Add('word' + IntToStr(i * 7919 mod 1000));
  list.Sort;
  list.Free;
end;

procedure Fail(n: integer);
begin
  if n mod 3 = 0 then raise Exception.Create('third');
end;

function Work: double;
var shape: TSquare; i: integer;
begin
  Result := 0;
  for i := 0 to 500 do begin
    shape := TSquare.Create;
    shape.Side := i;
    Result := Result + shape.Area(20);
    shape.Free;
  end;
  SortWords;
  for i := 0 to 30 do
    try Fail(i) except on e: Exception do Result := Result + 1 end;
end;

var sum: double;
begin
  repeat sum := sum + Work until sum < 0;
end.
