import type { Plugin } from '@tapline/core'
import { callResourceTool } from './calling.ts'
import { RESOURCE_TOOLS } from './definitions.ts'
import { widestExposure } from './source.ts'

export { callResourceTool } from './calling.ts'
export type { ResourceCall } from './calling.ts'
export { RESOURCE_TOOLS } from './definitions.ts'
export type { ResourceTool, ResourceToolName } from './definitions.ts'
export { widestExposure } from './source.ts'
export type { ResourceAnswer, ResourceServer } from './source.ts'

/** The resource tools: what the model is told of them, what a call does, and how they are exposed. */
export interface Resources {
  readonly tools: typeof RESOURCE_TOOLS
  readonly call: typeof callResourceTool
  readonly exposure: typeof widestExposure
}

/** Options of the plugin. */
export interface ResourcesOptions {
  /** Given the tools when the plugin is set up. */
  onReady?(resources: Resources): void
}

/** The three resource tools, for a program that has a model to offer them to. */
export const resources = ({ onReady }: ResourcesOptions = {}): Plugin => ({
  name: 'resources',
  api: 1,
  setup() {
    onReady?.({ tools: RESOURCE_TOOLS, call: callResourceTool, exposure: widestExposure })
  },
})
