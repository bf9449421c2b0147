-- Generates the requests of one kind of work for wrk. Prints the figures as one line of JSON.
-- Arguments: work, number of pets, key, the epoch of cursors, and `keys` if each create and change has a new Idempotency-Key.

local statuses = { "available", "pending", "sold" }
local work, pets, head, list, epoch, idempotency_prefix
local threads = {}
creates = -1

function setup(thread)
  table.insert(threads, thread)
end

local function get(path)
  return "GET " .. path .. head .. "\r\n"
end

local function write(target, number, field, body)
  local once = idempotency_prefix and "Idempotency-Key: " .. idempotency_prefix .. number .. "\r\n" or ""
  return target .. head .. once .. field .. "Content-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

local function create()
  creates = creates + 1
  local category = math.random(10) == 1 and string.format("9007199254%06d", math.random(900000)) or math.random(1000)
  local body = '{"name":"Bello ' .. math.random(1000000) .. '","categoryId":' .. category
    .. ',"status":"' .. statuses[math.random(3)] .. '"}'
  return write("POST /v1/pets", creates, "", body)
end

-- Changes 1024 pets, again and again, with the entity tags of the responses.
local tagged, first, last, changes = {}, 1, 0, 0

local function change()
  changes = changes + 1
  local id, tag = 1 + changes * 977 % pets, "*"
  if last - first >= 1023 then
    id, tag = tagged[first][1], tagged[first][2]
    tagged[first], first = nil, first + 1
  end
  return write("PATCH /v1/pets/" .. id, changes, "If-Match: " .. tag .. "\r\n", '{"name":"Bello ' .. math.random(1000000) .. '"}')
end

local function note_tag(status, headers, body)
  last = last + 1
  tagged[last] = { body:match('"id":(%d+)'), headers["ETag"] or headers["etag"] }
end

local requests = {
  list = function() return list end,
  ["list-random"] = function()
    local status = statuses[math.random(4)]
    return get("/v1/pets?limit=" .. math.random(100) .. (status and "&status=" .. status or ""))
  end,
  get = function() return get("/v1/pets/" .. math.random(pets)) end,
  create = create,
  change = change,
  ["list-100"] = function() return get("/v1/pets?limit=100&after=" .. math.random(pets)) end,
  changes = function() return get("/v1/changes?limit=100&after=" .. epoch .. "-" .. math.random(pets)) end,
  mix = function() return math.random(10) == 1 and create() or list end,
}

function init(args)
  math.randomseed(42)
  work, pets = args[1], tonumber(args[2])
  epoch = args[4]
  if args[5] then idempotency_prefix = os.time() .. "-" end
  head = " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " .. args[3] .. "\r\n"
  list = get("/v1/pets")
  if work == "change" then response = note_tag end
  -- wrk calls request() once without sending the result. The counter `creates` starts at -1 because of this call.
  local made, next_request = false, requests[work]
  request = function()
    if made then return next_request() end
    made = true
    return create()
  end
end

function done(summary, latency)
  local sent = 0
  for _, thread in ipairs(threads) do sent = sent + thread:get("creates") end
  local e = summary.errors
  print(string.format(
    '{"requests":%d,"seconds":%.6f,"bytes":%.0f,"min":%.3f,"p50":%.3f,"p90":%.3f,"p99":%.3f,"longest":%.3f,"refused":%d,"broken":%d,"createsSent":%d}',
    summary.requests, summary.duration / 1e6, summary.bytes, latency.min / 1000, latency:percentile(50) / 1000,
    latency:percentile(90) / 1000, latency:percentile(99) / 1000, latency.max / 1000, e.status, e.connect + e.read + e.write + e.timeout, sent))
end
