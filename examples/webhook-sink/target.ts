import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'

/** Where pushes go, and what they are signed with. */
export interface Target {
  readonly url: URL
  readonly secret: string
}

/**
 * What `[options.webhook-sink]` says. The secret is looked up for each push, so that a new one counts at once. Throws
 * what is missing, and never the secret.
 */
export function targetOf(
  { url, secret, secret_env, secret_file }: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): Target {
  const address = URL.parse(String(url))
  if (!address || !isPrivate(address))
    throw new Error('"url" must be an https address, or an http address of this machine.')
  if (address.username !== '' || address.password !== '')
    throw new Error('"url" must have no user name and no password: what is posted is signed with the secret.')
  if (secret !== undefined)
    throw new Error('"secret" is not read: name a variable with "secret_env" or a file with "secret_file".')
  const found =
    typeof secret_file === 'string'
      ? readFileSync(resolve(secret_file.replace(/^~(?=\/)/, homedir())), 'utf8').trim()
      : env[String(secret_env)]
  if (!found)
    throw new Error(
      'there is no secret: "secret_env" must name a variable, or "secret_file" a file, that has one.',
    )
  return { url: address, secret: found }
}

function isPrivate({ protocol, hostname }: URL): boolean {
  return (
    protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname))
  )
}
