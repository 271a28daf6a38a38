import { BlockList, isIP } from 'node:net'

const HERE = new BlockList()
HERE.addSubnet('127.0.0.0', 8, 'ipv4')
HERE.addAddress('::1', 'ipv6')
// No address at all, and taken for this machine's own.
HERE.addAddress('0.0.0.0', 'ipv4')
HERE.addAddress('::', 'ipv6')

/** Private and link-local addresses (RFC 1918, 3927, 4193, 4291), and those of carriers' and overlay networks (RFC 6598). */
const NEAR = new BlockList()
for (const [net, prefix] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  NEAR.addSubnet(net, prefix, 'ipv4')
NEAR.addSubnet('fc00::', 7, 'ipv6')
NEAR.addSubnet('fe80::', 10, 'ipv6')

/**
 * Where the host of an address is, as far as its name says: on this machine, in the network around it, or elsewhere.
 * Nothing is looked up.
 */
export function whereIs(hostname: string): 'here' | 'near' | 'far' {
  const host = hostname.replace(/^\[|\]$|\.$/g, '')
  const version = isIP(host)
  if (version !== 0) {
    const family = version === 4 ? 'ipv4' : 'ipv6'
    return HERE.check(host, family) ? 'here' : NEAR.check(host, family) ? 'near' : 'far'
  }
  if (/(?:^|\.)localhost$/.test(host)) return 'here'
  return !host.includes('.') || /\.(?:local|internal|lan|home\.arpa)$/.test(host) ? 'near' : 'far'
}
