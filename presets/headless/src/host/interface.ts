import type { Diagnostic, Kernel, Pipeline, Projects, TrustQuestion } from '@tapline/core'
import type { Catalogue } from '@tapline/tools'
import type { ServerChange } from '../changes/change.ts'
import type { ChangeScope } from '../changes/places.ts'
import type { Services } from '../plugins/services.ts'
import type { Settings } from '../settings/settings.ts'
import type { Server } from './server.ts'

/** Tapline in one process: the kernel, the servers and the pipeline. */
export interface Tapline {
  readonly kernel: Kernel
  readonly pipeline: Pipeline
  /** The tools of all servers. */
  readonly catalogue: Catalogue
  readonly settings: Settings
  /** Tells which directories are one project. */
  readonly projects: Projects
  /** Every configured server in order, the disabled ones too. */
  readonly servers: readonly Server[]
  readonly diagnostics: readonly Diagnostic[]
  /** Project files that are not used because nobody was asked about them. */
  readonly questions: readonly TrustQuestion[]
  /** What built-in plugins offer beside their taps. */
  readonly services: Services
  /** False when mcp.json forbids to activate codemode for its servers. */
  readonly autoEnableCodemode: boolean
  server(name: string): Server | undefined
  /** Begins to connect the enabled servers, in the background. */
  start(): void
  /** Reads the server files again. Servers whose connection stays the same keep running with what else changed. */
  reload(): Promise<void>
  /**
   * Enables or disables a server, or changes its exposure: in the file that says so now (a project's override, else the
   * one that defines it), or for `project` in an override of this project, which is added. What an extension has
   * registered changes for this session alone. Answers the file, if any, when all is as it should be. Rejects with what
   * a person should know when nothing was changed.
   */
  change(server: string, change: ServerChange, scope?: ChangeScope): Promise<{ readonly savedTo?: string }>
  /** Ends every server and plugin within a bounded time. */
  close(): Promise<void>
}
