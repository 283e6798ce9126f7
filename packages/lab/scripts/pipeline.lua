-- wrk script: sends requests in batches, the next one when the last reply of a batch has arrived.
-- usage: wrk -s pipeline.lua URL -- DEPTH

local batch

function init(args)
  local requests = {}
  for index = 1, tonumber(args[1]) do
    requests[index] = wrk.format()
  end
  batch = table.concat(requests)
end

function request()
  return batch
end
