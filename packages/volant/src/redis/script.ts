/** The script that counts in Redis, in one step for all limits of a request, by the clock of the server. */

/**
 * ARGV: `take` or `refund`, then five for each key: algorithm, max, window in µs, burst, cost. Gives four integers for
 * each key: 1 if it is allowed, what remains, and the µs until the quota and the units are there.
 *
 * Lua writes numbers with 14 digits, and microseconds have 16, hence `text`. A time in the future is one of a server
 * whose clock went back: it counts as now.
 */
export const script: string = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local refunds = ARGV[1] == 'refund'
local passes = true
local states = {}

local function text(number) return string.format('%.0f', number) end

local function read(key)
  local value = redis.call('GET', key)
  local start, count, before = string.match(value or '', '^(%d+):?(%d*):?(%d*)$')
  return tonumber(start) or 0, tonumber(count) or 0, tonumber(before) or 0
end

local function gcra(key, max, window, burst, cost)
  local interval = math.ceil(window / max)
  local depth = interval * burst
  local ahead = math.min(math.max(read(key) - now, 0), depth)
  if refunds then
    local left = math.max(ahead - interval * cost, 0)
    return { value = text(now + left), keep = left }
  end
  local next = ahead + interval * cost
  if next > depth then
    return { false, math.floor((depth - ahead) / interval), ahead, next - depth }
  end
  local remaining = math.floor((depth - next) / interval)
  local reset = remaining > 0 and next or next + interval - depth
  return { true, remaining, reset, 0, value = text(now + next), keep = next }
end

local function fixed(key, max, window, _, cost)
  local start, count = read(key)
  if now >= start + window then start, count = now, 0 end
  if start > now then start = now end
  local rest = start + window - now
  if refunds then
    return { value = text(start) .. ':' .. text(math.max(count - cost, 0)), keep = rest }
  end
  if count + cost > max then return { false, math.max(max - count, 0), rest, rest } end
  return { true, max - count - cost, rest, 0, value = text(start) .. ':' .. text(count + cost), keep = rest }
end

local function sliding(key, max, window, _, cost)
  local start, count, before = read(key)
  if now >= start + 2 * window then start, count, before = now, 0, 0 end
  if now >= start + window then start, count, before = start + window, 0, count end
  if start > now then start = now end
  local passed = now - start
  local keep = 2 * window - passed
  local function value() return text(start) .. ':' .. text(count) .. ':' .. text(before) end
  if refunds then
    before = math.max(before - math.max(cost - count, 0), 0)
    count = math.max(count - cost, 0)
    return { value = value(), keep = keep }
  end
  local weighted = count + before * (window - passed) / window
  local function wait(cost)
    local room = max - cost
    if count <= room then return math.max(1, math.ceil(window * (1 - (room - count) / before)) - passed) end
    return window - passed + math.ceil(window * (1 - room / count))
  end
  if weighted + cost > max then
    return { false, math.max(math.floor(max - weighted), 0), window - passed, wait(cost) }
  end
  count = count + cost
  local remaining = math.floor(max - weighted - cost)
  return { true, remaining, remaining > 0 and window - passed or wait(1), 0, value = value(), keep = keep }
end

local algorithms = { gcra = gcra, fixed = fixed, sliding = sliding }
local function argument(index, at) return tonumber(ARGV[index * 5 - 4 + at]) end

for index, key in ipairs(KEYS) do
  local count = algorithms[ARGV[index * 5 - 3]]
  states[index] = count(key, argument(index, 2), argument(index, 3), argument(index, 4), argument(index, 5))
  if states[index][1] == false then passes = false end
end
local reply = {}
for index, key in ipairs(KEYS) do
  local state = states[index]
  if state.value and passes then
    if state.keep > 0 then redis.call('SET', key, state.value, 'PX', text(math.ceil(state.keep / 1000)))
    else redis.call('DEL', key) end
  elseif state[1] then
    state[2] = state[2] + argument(index, 5)
  end
  for at, value in ipairs({ state[1] and 1 or 0, state[2] or 0, state[3] or 0, state[4] or 0 }) do
    reply[(index - 1) * 4 + at] = value
  end
end
return reply
`
