export type { ServerBook } from './book.ts'
export { createPipeline } from './pipeline.ts'
export type { Pipeline, PipelineOptions } from './pipeline.ts'
export { BUILT_IN_POLICIES, matchesPattern, policyFor } from './policies.ts'
