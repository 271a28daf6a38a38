import type { ChangeScope, Server } from '@tapline/headless'
import { signOut } from '../sign-in/signing.ts'
import { beginChange, hasProjectScope, savedText } from './changing.ts'
import { createExposurePage } from './exposure-page.ts'
import { reconnectServer } from './operations.ts'
import type { Panel } from './page.ts'
import { openSignIn } from './sign-in/page.ts'

/** Something that can be done with a server. */
export interface ServerAction {
  /** The letter that does it. */
  readonly key: string
  readonly label: string
  /** What comes of it, in a few words. */
  readonly detail: string
  /** For the list, where there is room for what is done most. */
  readonly short?: string
  run(): void
}

/** What can be done with the server of this name as it stands now, what it needs most first. */
export function serverActions(panel: Panel, name: string): readonly ServerAction[] {
  const { tapline } = panel.scope
  const server = tapline.server(name)
  if (!server) return []
  const { spec, session } = server
  const { state, signIn } = session.status
  const exposure: ServerAction = {
    key: 'x',
    label: 'Exposure',
    detail: spec.exposure,
    short: 'exposure',
    run: () => panel.open(createExposurePage(panel, name)),
  }
  const turns = switchActions(panel, server)
  if (!spec.enabled) return [...turns, exposure]
  const isRefused = state === 'auth_failed' || signIn === true
  const needsSignIn = isRefused && tapline.services.signIns?.uses(spec) === true
  const isSignedIn = panel.signIns.has(server)
  const reconnect: ServerAction = {
    key: 'r',
    label: 'Reconnect',
    detail: state === 'connected' ? 'drops the connection and opens a new one' : 'tries again now',
    // A new connection would say the same.
    ...(needsSignIn ? {} : { short: 'reconnect' }),
    run: () => panel.work.begin(name, `Reconnecting "${name}"…`, () => reconnectServer(server, panel.scope)),
  }
  return [
    ...(needsSignIn ? [{ ...signInAction(panel, server), short: 'sign in' }] : []),
    reconnect,
    exposure,
    ...(isSignedIn && !needsSignIn
      ? [
          {
            ...signInAction(panel, server),
            label: 'Sign in again',
            detail: 'where it asks for more permissions',
          },
        ]
      : []),
    ...(isSignedIn ? [signOutAction(panel, server)] : []),
    ...turns,
  ]
}

function switchActions(panel: Panel, server: Server): readonly ServerAction[] {
  const { name, enabled } = server.spec
  const verb = enabled ? 'Disable' : 'Enable'
  const turn = (where: ChangeScope): void => beginChange(panel, name, { enabled: !enabled }, where)
  return [
    {
      key: 'd',
      label: verb,
      detail: savedText(server, 'here', panel),
      short: verb.toLowerCase(),
      run: () => turn('here'),
    },
    ...(hasProjectScope(server, panel)
      ? [
          {
            key: 'w',
            label: `${verb} in this project`,
            detail: savedText(server, 'project', panel),
            run: () => turn('project'),
          },
        ]
      : []),
  ]
}

function signInAction(panel: Panel, server: Server): ServerAction {
  return {
    key: 's',
    label: 'Sign in',
    detail: 'opens your browser',
    run: () => openSignIn(panel, server),
  }
}

function signOutAction(panel: Panel, server: Server): ServerAction {
  const { name } = server.spec
  return {
    key: 'o',
    label: 'Sign out',
    detail: 'deletes what is stored, for pi too',
    run: () => panel.work.begin(name, `Signing out of "${name}"…`, () => signOut(server, panel.scope)),
  }
}
