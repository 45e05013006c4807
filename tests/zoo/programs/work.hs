module Main (main) where

import qualified Data.Map.Strict as Map
import Data.List (sort, foldl')
import Control.Monad (forever)
import Data.IORef

data Tree = Leaf | Node Tree Int Tree

insertTree :: Int -> Tree -> Tree
insertTree x Leaf = Node Leaf x Leaf
insertTree x t@(Node l y r)
  | x < y = Node (insertTree x l) y r
  | x > y = Node l y (insertTree x r)
  | otherwise = t
{-# NOINLINE insertTree #-}

sumTree :: Tree -> Int
sumTree Leaf = 0
sumTree (Node l x r) = sumTree l + x + sumTree r
{-# NOINLINE sumTree #-}

wordCount :: Int -> Int
wordCount n = Map.size (foldl' (\m i -> Map.insertWith (+) (show (i * 7919 `mod` 500)) 1 m) Map.empty [1 .. n])
{-# NOINLINE wordCount #-}

main :: IO ()
main = do
  total <- newIORef 0
  forever $ do
    old <- readIORef total
    let tree = foldl' (flip insertTree) Leaf [(i * 7919 + old) `mod` 3001 | i <- [1 .. 3000]]
    writeIORef total $! (sumTree tree + wordCount 1000 + sum (sort [i * 31 `mod` 97 | i <- [1 .. 500]])) `mod` 1000
