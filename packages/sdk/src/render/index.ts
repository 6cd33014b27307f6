export type { AdapterName, Rendered, RenderOptions, RenderToolContext, RenderToolHandler, Source } from './options.ts'
export { render, renderChain } from './render.ts'
