/**
 * Loaded into a server process by `--import`. Records the process's outgoing connections and reports them on request.
 */
import dgram from 'node:dgram'
import dns from 'node:dns'
import net from 'node:net'

const reached = []

/** Records every call before making it. */
function note(object, name, describe) {
  const original = object[name]
  object[name] = function (...args) {
    reached.push(`${name} ${describe(args)}`)
    return original.apply(this, args)
  }
}

/** Arguments are (port, host), (options), or a normalized list of these from Node. */
const address = ([first, second]) => {
  const given = Array.isArray(first) ? first[0] : first
  const { host, port, path } = typeof given === 'object' ? given : { host: second, port: given }
  return path ?? `${host}:${port}`
}
note(net.Socket.prototype, 'connect', address)
note(dgram.Socket.prototype, 'send', () => 'datagram')
note(dgram.Socket.prototype, 'connect', () => 'datagram')
// Ignores the address on which a server listens, because the server resolves it too.
const isListening = (host) => host === undefined || host === null || host === '127.0.0.1' || host === 'localhost'
for (const resolver of [dns, dns.promises]) {
  const { lookup } = resolver
  resolver.lookup = function (host, ...rest) {
    if (!isListening(host)) reached.push(`lookup ${host}`)
    return lookup.call(this, host, ...rest)
  }
}

process.on('message', (message) => {
  if (message === 'outgoing') process.send({ reached })
})
process.channel?.unref()
