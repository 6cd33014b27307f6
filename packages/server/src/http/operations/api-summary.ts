import openapi from '@stet/contract/openapi.json' with { type: 'json' }

interface Operation {
  summary: string
  tags: string[]
}

/** The API in the form of llmstxt.org: a title, a summary, and a line for each route. */
export function apiSummary(): string {
  const prefix = openapi.servers[0]?.url ?? ''
  const groups = new Map(openapi.tags.map(({ name }): [string, string[]] => [name, []]))
  for (const [path, item] of Object.entries<Record<string, unknown>>(openapi.paths)) {
    const address = 'servers' in item ? path : prefix + path
    for (const [method, operation] of Object.entries(item)) {
      if (!isOperation(operation)) continue
      for (const tag of operation.tags)
        groups.get(tag)?.push(`- \`${method.toUpperCase()} ${address}\`: ${operation.summary}`)
    }
  }
  const { title, version, description } = openapi.info
  const [summary = '', ...rules] = description.split('\n\n')
  const links = [
    '- [openapi.json](openapi.json): parameters, schemas, errors, and a call of `@stet/sdk` for each route',
    '- [docs](docs): the same as a web page',
  ]
  const routes = [...groups].map(([tag, lines]) => `## ${tag}\n\n${lines.join('\n')}`)
  return `${[`# ${title} ${version}`, `> ${summary}`, ...rules, links.join('\n'), ...routes].join('\n\n')}\n`
}

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'summary' in value
}
