import { BlockList, isIP } from 'node:net'

const privateIpv4 = blockList(
  'ipv4',
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
    '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
)

// Includes the ranges for tunnels (6to4, Teredo, local NAT64), documentation and discarded traffic.
const privateIpv6 = blockList(
  'ipv6',
  '::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 ' +
    'fec0::/10 ff00::/8',
)

// IPv4-mapped addresses and NAT64.
const containsIpv4 = blockList('ipv6', '::ffff:0:0/96 64:ff9b::/96')

/** Also returns true for a private IPv4 address inside an IPv6 address, and for text that is not an address. */
export function isPrivateAddress(address: string): boolean {
  const [bare = ''] = address.split('%')
  const family = isIP(bare)
  if (family === 4) return privateIpv4.check(bare, 'ipv4')
  if (family !== 6) return true
  if (containsIpv4.check(bare, 'ipv6')) return isPrivateAddress(embeddedIpv4(bare))
  return privateIpv6.check(bare, 'ipv6')
}

// The URL parser normalizes every IPv6 address. The last two groups contain the IPv4 address.
function embeddedIpv4(address: string): string {
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':').slice(-2)
  const [high = 0, low = 0] = groups.map((group) => (group === '' ? 0 : Number.parseInt(group, 16)))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function blockList(family: 'ipv4' | 'ipv6', subnets: string): BlockList {
  const list = new BlockList()
  for (const subnet of subnets.split(' ')) {
    const [net = '', prefix] = subnet.split('/')
    list.addSubnet(net, Number(prefix), family)
  }
  return list
}
