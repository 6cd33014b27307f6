import { defined } from '@stet/template/defined'
import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { oneLine } from '../../terminal/output.ts'
import { findRun } from './find-run.ts'

export const command = defineCommand({
  summary: "Replaces the tags of a run's conversation, and sets its note.",
  examples: [
    'stet runs tag 7c1d2e3f wrong-tone',
    'stet runs tag 7c1d2e3f wrong-tone late --note "Ignores the order number"',
    'stet runs tag 7c1d2e3f --clear --note ""',
  ],
  args: {
    '<run>': 'its uuid, that of its conversation, or the first 8 digits',
    '[tag...]': 'all its tags',
  },
  flags: {
    '--note <text>': 'the note; an empty text removes it',
    '--clear': 'remove all tags',
  },
  parse(raw) {
    const [ref = '', ...tags] = raw.args
    const note = raw.flags.note
    const clears = raw.flags.clear
    if (clears && tags.length > 0) throw new CliError('usage', 'Use tags or --clear, not both')
    if (!clears && tags.length === 0 && note === undefined)
      throw new CliError('usage', 'Missing input: the tags', { hint: 'pass tags, --note or --clear' })
    return { ref, note, tags: clears || tags.length > 0 ? tags : undefined }
  },
  async run({ ref, ...labels }, ctx) {
    const { conversationUuid: uuid } = await findRun(ref, ctx)
    const { tags, note } = await (await ctx.client()).conversations.update(uuid, defined(labels))
    return { uuid, tags, note }
  },
  print({ uuid, tags, note }, { style, say }) {
    const parts = [`conversation ${uuid}`, tags.length > 0 ? `tags ${tags.join(', ')}` : 'no tags']
    say(`${style.ok} ${oneLine([...parts, ...(note ? [`note "${note.text}"`] : [])].join(' · '))}`)
  },
})
