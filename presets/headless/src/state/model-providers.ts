import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The model providers that pi 1.6 knows (`KnownProvider` of pi-ai). Their credentials never go to a server. */
const KNOWN = new Set(
  (
    'amazon-bedrock ant-ling anthropic azure baseten cerebras cloudflare-ai-gateway cloudflare-workers-ai deepseek fireworks ' +
    'github-copilot google google-vertex groq huggingface kimi-coding meta minimax minimax-cn mistral moonshotai moonshotai-cn ' +
    'nvidia openai openai-codex opencode opencode-go openrouter qwen-token-plan qwen-token-plan-cn qwen-token-plan-individual ' +
    'qwen-token-plan-individual-cn radius together typesafe vercel-ai-gateway xai xiaomi xiaomi-token-plan-ams ' +
    'xiaomi-token-plan-cn xiaomi-token-plan-sgp zai zai-coding-cn'
  ).split(' '),
)

/** Whether a credential of this name belongs to a model provider: one that pi knows, or one of `models.json`. */
export function isModelProvider(agentDir: string, name: string): boolean {
  if (KNOWN.has(name.toLowerCase())) return true
  try {
    const { providers } = JSON.parse(readFileSync(join(agentDir, 'models.json'), 'utf8')) as {
      providers?: object
    }
    return typeof providers === 'object' && providers !== null && Object.hasOwn(providers, name)
  } catch {
    return false
  }
}
