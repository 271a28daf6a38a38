import { sdkV1 } from './sdk-v1.ts'
import { CURRENT, sessionContract } from './suite.ts'

sessionContract(CURRENT)
sessionContract({ name: '@modelcontextprotocol/sdk 1', load: async () => sdkV1, modern: false })
