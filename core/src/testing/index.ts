export {
  BAD_PLUGINS,
  duplicatePlugin,
  hangingPlugin,
  lyingPlugin,
  throwingPlugin,
  throwingSetup,
  wrongApiPlugin,
} from './bad-plugins.ts'
export { testHost, testKernel } from './kernel.ts'
export type { TestKernel, TestKernelOptions } from './kernel.ts'
export { createMemoryPair } from './memory.ts'
export type { MemoryTransport } from './memory.ts'
