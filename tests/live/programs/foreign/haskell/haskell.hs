-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- A Haskell program: Haskell has a stack of its own, and one frame on that of C.
--
--	haskell leaf	...;main;hs_main;...;the scheduler;Main's code
--	haskell call	the same;h_one;h_two
module Main where

import Foreign.C.Types
import System.Environment

foreign import ccall unsafe "h_one" h_one :: CInt -> IO CInt

leaf :: Int -> Int -> Int
leaf 1 a = a
leaf k a = leaf (k * 1664525 + 1013904223) (a + k)
{-# NOINLINE leaf #-}

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    ["call"] -> h_one 5 >>= print
    _ -> print (leaf 2 (length arguments))
