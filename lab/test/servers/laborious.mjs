// Computes for half a ms before each reply: with 100 connections it has work for 50 ms, however late the generator is.
import { hello, serve } from './serve.mjs'

serve((request, response) => {
  const began = performance.now()
  while (performance.now() - began < 0.5);
  hello(request, response)
})
