import type { Project } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import { formatAge, formatTable, shortUuid } from '../../terminal/output.ts'

export const command = defineCommand({
  summary: 'Lists the projects that the key can see, most recently edited first.',
  examples: ['stet projects list', 'stet projects list --json'],
  parse: () => undefined,
  async run(_, ctx) {
    const { projectId } = await ctx.settings()
    return { projects: await (await ctx.client()).projects.list(), current: projectId?.value ?? null }
  },
  print({ projects, current }, { io }) {
    const isShort = io.tty.stdout
    const columns = [
      { head: ' ', cell: ({ id }: Project) => (id === current ? '●' : ' ') },
      { head: 'ID', cell: ({ id }: Project) => String(id) },
      { head: 'NAME', cell: ({ name }: Project) => name },
      {
        head: 'LIVE',
        cell: ({ liveVersionUuid: uuid }: Project) => (uuid === null ? '-' : isShort ? shortUuid(uuid) : uuid),
      },
      { head: 'EDITED', cell: ({ lastEditedAt: at }: Project) => (isShort ? formatAge(at) : at) },
    ]
    io.out(formatTable(columns, projects, io))
  },
})
