import { defineCommand, textFlag } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { readProjectId } from '../projects/project-id.ts'

export const command = defineCommand({
  summary: 'Deletes every ended conversation of a custom identifier for good, in all projects or in one.',
  examples: [
    'stet conversations erase --custom-identifier customer-7',
    'stet conversations erase --custom-identifier customer-7 --only-project 7 --yes',
  ],
  flags: [
    { long: '--custom-identifier', value: '<identifier>', summary: 'the identifier that the runs were given' },
    { long: '--only-project', value: '<id>', summary: 'only conversations of this project' },
  ],
  parse(raw) {
    const identifier = textFlag(raw, 'customIdentifier')
    if (!identifier)
      throw new CliError('usage', 'Missing input: the custom identifier', { hint: '--custom-identifier <identifier>' })
    const only = textFlag(raw, 'onlyProject')
    return { identifier, scope: only === undefined ? {} : { projectId: readProjectId(only, '--only-project') } }
  },
  async run({ identifier, scope }, ctx) {
    const client = await ctx.client()
    const place = scope.projectId === undefined ? 'every project' : `project ${scope.projectId}`
    if (!(await ctx.confirm(`Delete all conversations of "${identifier}" in ${place} for good?`, '--yes'))) {
      throw new CliError('usage', 'Nothing was changed')
    }
    return client.conversations.erase(identifier, scope)
  },
  print({ deleted, active }, { style, say, warn }) {
    say(`${style.ok} Deleted ${deleted} ${deleted === 1 ? 'conversation' : 'conversations'}`)
    if (active > 0) warn(`${active} with an active run were left: stop them, and erase again`)
  },
})
