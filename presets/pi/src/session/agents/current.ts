import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'

/** `provider/model` and thinking level of the session now; nothing without a model, and once it has ended. */
export function currentModel(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
): { readonly model?: string; readonly thinking?: string } {
  try {
    const { model } = ctx
    return model ? { model: `${model.provider}/${model.id}`, thinking: pi.getThinkingLevel() } : {}
  } catch {
    return {}
  }
}
