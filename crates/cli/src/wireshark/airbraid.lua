-- Dissector for the headers of airbraid: trunks over radios, tunnels, selection, local error control.
-- The formats are in docs/reference/captures.md. `airbraid wireshark --install` puts this file in place.
-- Made for Wireshark 3.6 and later.

-- Loaded already, from another folder: it does all there is to do.
local is_first, trunk = pcall(Proto, "airbraid", "airbraid trunk header")
if not is_first then return end
local control = Proto("airbraid_control", "airbraid trunk control")
local tunnel = Proto("airbraid_tunnel", "airbraid tunnel")
local layer = Proto("airbraid_link", "airbraid link layer")
local ip = Dissector.get("ip")

local fields, declared = {}, {}

-- Adds the fields of a format, rows of name and length, from an offset on; returns the offset behind them.
local function add(tree, tvb, offset, prefix, rows)
    for _, row in ipairs(rows) do
        local name, length = row[1], row[2]
        if offset + length > tvb:len() then return offset end
        if name ~= "" then tree:add(fields[prefix .. "." .. name], tvb(offset, length)) end
        offset = offset + length
    end
    return offset
end

-- Declares the fields of a format: rows of name, length, and perhaps type and label.
local function declare(prefix, rows)
    local all = declared[prefix] or {}
    declared[prefix] = all
    for _, row in ipairs(rows) do
        local name = prefix .. "." .. row[1]
        if row[1] ~= "" and not fields[name] then
            local kind = row[3] or ("uint" .. row[2] * 8)
            fields[name] = ProtoField[kind](name, row[4] or (row[1]:gsub("_", " ")))
            table.insert(all, fields[name])
        end
    end
end

-- Dissects the IP packet of a length at an offset. What the capture has cut of it is zeros, as its payload is.
local function inner(tvb, offset, length, pinfo, tree)
    if offset >= tvb:len() or length <= 0 then return end
    local have = math.min(length, tvb:len() - offset)
    if have == length then
        ip:call(tvb(offset, have):tvb(), pinfo, tree)
    else
        local bytes = tvb(offset, have):bytes()
        bytes:set_size(length)
        ip:call(bytes:tvb("Packet"), pinfo, tree)
    end
end

-- Whether an IPv4 packet of just this length begins at an offset.
local function is_ip(tvb, offset, length)
    return offset + 20 <= tvb:len() and tvb(offset, 1):uint() == 0x45 and tvb(offset + 2, 2):uint() == length
end

local TRUNK = {
    { "version", 1 }, { "member", 1 }, { "epoch", 2 }, { "number", 4 }, { "member_number", 4 },
    { "member_previous", 4 }, { "bucket", 2 }, { "bucket_number", 4 }, { "unsettled", 2 },
}
local BEACON = {
    { "", 4 }, { "beacon_number", 4 }, { "newest", 4 }, { "heard", 4 }, { "arrived", 4 }, { "missing", 4 },
    { "gaps", 4 },
}
local NUMBER = { { "number", 4 } }
local SHORT = { { "number", 4 }, { "member_distance", 2 }, { "unsettled", 2 } }
local TRUNK_LEN, BEACON_LEN = 24, 28
local KINDS = { [1] = "initiation", [2] = "response", [3] = "cookie reply", [4] = "data", [5] = "control",
    [6] = "stamp reply" }
local SEALED = { { "session", 1, "uint8", "version and kind" }, { "member", 1 }, { "key", 4 },
    { "counter", 6, "uint64" } }
local TAG = 16
local SEALED_LEN = 12

declare("airbraid", TRUNK)
declare("airbraid", BEACON)
declare("airbraid", SHORT)
declare("airbraid", SEALED)

local function beacon(tvb, offset, pinfo, tree)
    add(tree, tvb, offset, "airbraid", BEACON)
    pinfo.cols.protocol = "airbraid"
    pinfo.cols.info = "Beacon " .. tvb(offset + 4, 4):uint()
end

-- The packet behind a header of a length, with the trunk's number in the column.
local function behind(tvb, header, pinfo, tree, top, rows)
    add(top, tvb, 0, "airbraid", rows)
    inner(tvb, header, tvb:reported_len() - header, pinfo, tree)
    local at = rows == TRUNK and 4 or 0
    pinfo.cols.info:append((" [number %d]"):format(tvb(at, 4):uint()))
end

-- Before packets and beacons on the air: the header of a trunk, which is as long as the scenario says, a number of
-- selection, or a sealed frame.
function trunk.dissector(tvb, pinfo, tree)
    local length, first = tvb:reported_len(), tvb(0, 1):uint()
    local top = tree:add(trunk, tvb(0, math.min(24, tvb:len())))
    if is_ip(tvb, 4, length - 4) then
        behind(tvb, 4, pinfo, tree, top, NUMBER)
    elseif bit.rshift(first, 4) == 1 then
        local content = add(top, tvb, 0, "airbraid", SEALED)
        if tvb(2, 4):uint() ~= 0 then
            pinfo.cols.info = "Sealed frame, " .. length - SEALED_LEN - TAG .. " byte"
        elseif is_ip(tvb, content, length - content - TAG) then
            inner(tvb, content, length - content - TAG, pinfo, tree)
        else
            beacon(tvb, content, pinfo, top)
        end
    elseif first == 2 and length == BEACON_LEN then
        beacon(tvb, 0, pinfo, top)
    else
        local header = 1
        while header < tvb:len() and not is_ip(tvb, header, length - header) do header = header + 1 end
        if header < tvb:len() then behind(tvb, header, pinfo, tree, top, header < TRUNK_LEN and SHORT or TRUNK) end
    end
end

local SURPLUS = { { "round", 4 }, { "counter", 4, "int32" } }
local ACKNOWLEDGEMENT = { { "next", 4 }, { "missing", 4 }, { "missing", 4 }, { "missing", 4 }, { "missing", 4 } }
local MARKER = { { "", 1 }, { "member", 1 }, { "previous", 4 }, { "number", 4 }, { "unsettled", 2 } }
declare("airbraid_control", SURPLUS)
declare("airbraid_control", ACKNOWLEDGEMENT)
declare("airbraid_control", MARKER)
local protocol = Field.new("ip.proto")

-- Markers and acknowledgements of a trunk over radios.
function control.dissector(tvb, pinfo, tree)
    local top, length = tree:add(control, tvb()), tvb:reported_len()
    local numbers = { protocol() }
    pinfo.cols.protocol = "airbraid"
    if numbers[#numbers].value == 254 then
        add(top, tvb, 0, "airbraid_control", MARKER)
        pinfo.cols.info = "Marker: next number " .. tvb(6, 4):uint() .. ", member " .. tvb(1, 1):uint()
    elseif length == 8 then
        add(top, tvb, 0, "airbraid_control", SURPLUS)
        pinfo.cols.info = "Marker: round " .. tvb(0, 4):uint() .. ", counter " .. tvb(4, 4):int()
    else
        add(top, tvb, 0, "airbraid_control", ACKNOWLEDGEMENT)
        pinfo.cols.info = "Acknowledgement: next " .. tvb(0, 4):uint()
    end
end

local DATA = { { "frame", 1, "uint8", "version and kind" }, { "number", 4 }, { "place", 4 } }
local PROBE = { { "frame", 1 }, { "number", 4 }, { "epoch", 4 } }
local FEEDBACK = { { "frame", 1 }, { "epoch", 4 }, { "sent_at", 4 } }
local REPAIR = { { "frame", 1 }, { "low_number", 2 }, { "count", 1 }, { "index", 1 } }
local PATH = { { "frame", 1 }, { "token", 8, "bytes" } }
local FRAMES = {
    [1] = { "Data", DATA }, [2] = { "Probe", PROBE }, [3] = { "Feedback", FEEDBACK }, [4] = { "Repair symbol", REPAIR },
    [5] = { "Path challenge", PATH }, [6] = { "Path response", PATH },
}
declare("airbraid_tunnel", SEALED)
for _, frame in ipairs(FRAMES) do declare("airbraid_tunnel", frame[2]) end

-- A datagram of a tunnel: a handshake, or a sealed frame. One of the simulator has the key 0 and is in the clear.
function tunnel.dissector(tvb, pinfo, tree)
    local length, first = tvb:reported_len(), tvb(0, 1):uint()
    if bit.rshift(first, 4) ~= 1 or KINDS[bit.band(first, 15)] == nil then return 0 end
    local kind = bit.band(first, 15)
    local top = tree:add(tunnel, tvb(0, math.min(SEALED_LEN + 9, tvb:len())))
    pinfo.cols.protocol = "airbraid"
    pinfo.cols.info = "Handshake: " .. KINDS[kind]
    if kind ~= 4 and kind ~= 5 then return end
    local content = add(top, tvb, 0, "airbraid_tunnel", SEALED)
    local member = tvb(1, 1):uint()
    local frame = tvb(2, 4):uint() == 0 and FRAMES[bit.band(tvb(content, 1):uint(), 15)]
    if not frame then
        pinfo.cols.info = ("Sealed frame (%s), member %d, %d byte"):format(KINDS[kind], member, length - content - TAG)
        return
    end
    pinfo.cols.info = ("%s, member %d"):format(frame[1], member)
    content = add(top, tvb, content, "airbraid_tunnel", frame[2])
    if frame[1] == "Data" then
        inner(tvb, content, length - content - TAG, pinfo, tree)
        pinfo.cols.info:append((" [tunnel number %d, member %d]"):format(tvb(SEALED_LEN + 1, 4):uint(), member))
    end
end

local POLLED = {
    { "polled", 1, "uint8", "kind" }, { "polled_flags", 1 }, { "polled_number", 2 }, { "to", 6, "ether" },
    { "from", 6, "ether" }, { "header_length", 2 },
}
local STOP_AND_WAIT = {
    { "version", 1 }, { "flags", 1 }, { "parity", 1 }, { "report", 1 }, { "seq", 4 }, { "offset", 2 }, { "count", 2 },
    { "next", 4 }, { "good", 2 }, { "next", 4 }, { "good", 2 }, { "report_value", 2 }, { "invited_size", 2 },
    { "invited_parity", 1 },
}
local SELECTIVE_REPEAT = {
    { "version", 1 }, { "flags", 1 }, { "parity", 1 }, { "report", 1 }, { "number", 4 }, { "seq", 4 }, { "offset", 2 },
    { "count", 2 }, { "floor", 4 }, { "floor", 4 }, { "next", 4 }, { "next", 4 }, { "newest", 4 },
    { "before", 8 }, { "report_number", 4 }, { "report_value", 2 },
}
local POLLS = { [0] = "Poll", "Answer", "Invitation", "Join" }
local SELECTIVE_REPEAT_LEN = 60
declare("airbraid_link", POLLED)
declare("airbraid_link", STOP_AND_WAIT)
declare("airbraid_link", SELECTIVE_REPEAT)

-- A segment of a header of local error control, and its bytes: a whole packet is dissected as one.
local function segment(tvb, header, seq_at, body, pinfo, tree)
    local flags = tvb(header + 1, 1):uint()
    if bit.band(flags, 4) == 0 then return end
    local start, count = tvb(seq_at + 4, 2):uint(), tvb(seq_at + 6, 2):uint()
    local is_whole = start == 0 and bit.band(flags, 16) ~= 0
    local text = (" [segment %d: byte %d to %d]"):format(tvb(seq_at, 4):uint(), start, start + count)
    if is_whole and is_ip(tvb, body, count) then inner(tvb, body, count, pinfo, tree) end
    pinfo.cols.info:append(text)
end

-- A link with local error control, or a polled radio.
function layer.dissector(tvb, pinfo, tree)
    local length, first = tvb:reported_len(), tvb(0, 1):uint()
    local top = tree:add(layer, tvb())
    pinfo.cols.protocol = "airbraid"
    if first == 1 then
        pinfo.cols.info = "Selective repeat"
        add(top, tvb, 0, "airbraid_link", SELECTIVE_REPEAT)
        segment(tvb, 0, 8, SELECTIVE_REPEAT_LEN, pinfo, tree)
        return
    end
    pinfo.cols.info = POLLS[bit.band(first, 15)] or "Frame"
    local content = add(top, tvb, 0, "airbraid_link", POLLED)
    local header = tvb(16, 2):uint()
    if bit.band(tvb(1, 1):uint(), 4) ~= 0 then
        add(top, tvb, content, "airbraid_link", STOP_AND_WAIT)
        segment(tvb, content, content + 4, header, pinfo, tree)
    elseif length > header then
        inner(tvb, header, length - header, pinfo, tree)
    end
end

trunk.fields = declared["airbraid"]
control.fields = declared["airbraid_control"]
tunnel.fields = declared["airbraid_tunnel"]
layer.fields = declared["airbraid_link"]
DissectorTable.get("ethertype"):add(0x88b5, trunk)
DissectorTable.get("ip.proto"):add(253, control)
DissectorTable.get("ip.proto"):add(254, control)
DissectorTable.get("udp.port"):add(5182, tunnel)
DissectorTable.get("wtap_encap"):add(wtap.USER0, layer)
