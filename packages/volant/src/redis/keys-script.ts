/**
 * The script of texts by key in Redis. KEYS has the key; ARGV what to do:
 *
 * - `get` gives the value; nothing where there is none.
 * - `set`, value, milliseconds or an empty text, condition: `absent`, `equal` and the value that has to be there, or none.
 *   Gives 1 where it was written, else 0.
 * - `del` and the value that has to be there. Gives 1 where something was deleted, else 0.
 */
export const keysScript: string = `
local key, what = KEYS[1], ARGV[1]
if what == 'get' then return redis.call('GET', key) end
if what == 'del' then
  if redis.call('GET', key) ~= ARGV[2] then return 0 end
  return redis.call('DEL', key)
end
local condition = ARGV[4]
if condition == 'absent' and redis.call('EXISTS', key) == 1 then return 0 end
if condition == 'equal' and redis.call('GET', key) ~= ARGV[5] then return 0 end
if ARGV[3] == '' then redis.call('SET', key, ARGV[2])
else redis.call('SET', key, ARGV[2], 'PX', ARGV[3]) end
return 1
`
