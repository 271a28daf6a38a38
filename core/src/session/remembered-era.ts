import { type Connection, type ConnectionOptions, openConnection } from './connection.ts'
import { despiteHiccups } from './hiccups.ts'
import type { EraMemory } from './options.ts'
import { sdkError } from './sdk-errors.ts'

/** Opens a connection in the era that is remembered of the server, and remembers the one that it is in. */
export async function openRemembering(
  options: Omit<ConnectionOptions, 'knownEra'>,
  eras: EraMemory | undefined,
): Promise<Connection> {
  const { name } = options.server
  const knownEra = eras?.get(name)
  try {
    const connection = await despiteHiccups(options, () => openConnection({ ...options, knownEra }))
    eras?.set(name, connection.era)
    return connection
  } catch (thrown) {
    const { code } = sdkError(thrown)
    // A server that no longer takes the handshake it took before may have changed eras.
    if (knownEra !== undefined && (code === 'PROTOCOL' || code === 'REQUEST_TIMEOUT'))
      eras?.set(name, undefined)
    throw thrown
  }
}
