/** The script of sessions in Redis: what it does with a session it does in one step. */

/**
 * A session is a text: its version, a space, its value. KEYS has its name; ARGV what to do:
 *
 * - `get` gives version and value in one text, and the milliseconds left; nothing where there is no session.
 * - `set`, version, milliseconds, value: gives 1 if the session was written, 0 where it had another version.
 * - `touch`, milliseconds.
 */
export const sessionScript: string = `
local key = KEYS[1]
if ARGV[1] == 'touch' then return redis.call('PEXPIRE', key, ARGV[2]) end
local stored = redis.call('GET', key)
if ARGV[1] == 'get' then
  if not stored then return false end
  return { stored, redis.call('PTTL', key) }
end
local version = stored and tonumber(string.match(stored, '^(%d+) ')) or 0
if version ~= tonumber(ARGV[2]) - 1 then return 0 end
redis.call('SET', key, ARGV[2] .. ' ' .. ARGV[4], 'PX', ARGV[3])
return 1
`
