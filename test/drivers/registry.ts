import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'

/** An npm registry in this process, for npm and for what starts npm. */
export interface Registry extends AsyncDisposable {
  /** The base address, ending in `/`. */
  readonly url: string
  /** What the environment of npm must hold to use it, beside what it needs to reach the registry behind it. */
  readonly env: Readonly<Record<string, string>>
  /** The names that were asked for and are its own. */
  readonly served: ReadonlySet<string>
  close(): Promise<void>
}

/** Variables and settings by which npm finds its way out of this machine. */
const NETWORK = /^(https?_proxy|all_proxy|node_extra_ca_certs|ssl_cert_(file|dir))$/i
const SETTINGS = ['cache', 'cafile', 'https-proxy', 'proxy', 'strict-ssl'] as const

/**
 * Serves these tarballs, as `npm pack` makes them, under the names in their manifests. Whoever asks for anything
 * else is sent on to the registry that this machine is configured for, whose cache is shared.
 */
export async function startRegistry(tarballs: readonly string[]): Promise<Registry> {
  const config = await npmConfig()
  const upstream = String(config['registry'])
  const files = new Map(tarballs.map((file) => [path.basename(file), readFileSync(file)]))
  const manifests = tarballs.map((file) => ({ file: path.basename(file), manifest: manifestOf(file) }))
  const served = new Set<string>()

  const server = createServer((request, response) => {
    const asked = decodeURIComponent((request.url ?? '/').slice(1))
    const file = asked.startsWith('-/tapline/') ? files.get(asked.slice('-/tapline/'.length)) : undefined
    const versions = manifests.filter(({ manifest }) => manifest.name === asked)
    if (file) response.writeHead(200, { 'cache-control': 'no-store' }).end(file)
    else if (versions.length > 0) {
      served.add(asked)
      const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }
      response.writeHead(200, headers).end(JSON.stringify(packument(versions)))
    } else response.writeHead(302, { location: new URL(request.url?.slice(1) ?? '', upstream).href }).end()
  })
  await new Promise<void>((listening, failed) =>
    server.once('error', failed).listen(0, '127.0.0.1', listening),
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

  function packument(versions: typeof manifests): object {
    const entries = versions.map(({ file, manifest }) => {
      const bytes = files.get(file) ?? Buffer.alloc(0)
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
      const shasum = createHash('sha1').update(bytes).digest('hex')
      const dist = { tarball: `${url}-/tapline/${file}`, integrity, shasum }
      return [manifest.version, { ...manifest, dist }] as const
    })
    const latest = entries.at(-1)?.[0]
    return {
      name: versions[0]?.manifest.name,
      'dist-tags': { latest },
      versions: Object.fromEntries(entries),
    }
  }

  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
  return {
    url,
    env: { ...networkEnv(config), npm_config_registry: url },
    served,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function networkEnv(config: Awaited<ReturnType<typeof npmConfig>>): Record<string, string> {
  const variables = Object.entries(process.env).filter(([name]) => NETWORK.test(name)) as [string, string][]
  const settings = SETTINGS.flatMap((name) => {
    const value = config[name]
    const isSet = typeof value === 'string' || typeof value === 'boolean'
    return isSet ? [[`npm_config_${name.replaceAll('-', '_')}`, String(value)] as const] : []
  })
  const direct = [config['noproxy']].flat().filter((host) => typeof host === 'string' && host !== '')
  return {
    ...Object.fromEntries([...variables, ...settings]),
    npm_config_noproxy: [...direct, '127.0.0.1'].join(','),
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
  }
}

async function npmConfig(): Promise<Readonly<Record<string, unknown>>> {
  const { stdout } = await promisify(execFile)('npm', ['config', 'list', '--long', '--json'], {
    timeout: 30_000,
  })
  return JSON.parse(stdout)
}

function manifestOf(tarball: string): { readonly name: string; readonly version: string } {
  const text = execFileSync('tar', ['-xOzf', tarball, 'package/package.json'], { encoding: 'utf8' })
  return JSON.parse(text)
}
