with Ada.Containers.Ordered_Maps;
with Ada.Strings.Unbounded; use Ada.Strings.Unbounded;

procedure Work is
   package Maps is new Ada.Containers.Ordered_Maps (Integer, Unbounded_String);
   Failure : exception;
   Seed    : Integer := 1;

   function Hanoi (N : Integer) return Integer is
     (if N = 0 then 0 else Hanoi (N - 1) + 1 + Hanoi (N - 1));

   procedure Fail (N : Integer) is
   begin
      if N mod 3 = 0 then
         raise Failure;
      end if;
   end Fail;

   procedure Fill is
      Map : Maps.Map;
   begin
      for I in 1 .. 2000 loop
         Seed := (Seed * 75 + 74) mod 65537;
         Map.Include (Seed, To_Unbounded_String ("word" & Integer'Image (I)));
      end loop;
   end Fill;

   Sum : Integer;
begin
   loop
      Sum := Hanoi (14);
      Fill;
      for I in 1 .. 60 loop
         begin
            Fail (I + Sum * 0);
         exception
            when Failure => null;
         end;
      end loop;
   end loop;
end Work;
