export type { ServerBook } from './book.ts'
export type { Pipeline, PipelineOptions } from './options.ts'
export { createPipeline } from './pipeline.ts'
export { BUILT_IN_POLICIES, matchesPattern, policyFor } from './policies.ts'
