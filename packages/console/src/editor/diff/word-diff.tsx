import { presentableDiff } from '@codemirror/merge'
import { Fragment, useMemo } from 'react'
import { withSigns } from '../../ui/hidden-characters.ts'
import css from './text-diff.module.css'
import { diffConfig } from './text-diff.tsx'

/** A text with the words that it has in place of those of another one. */
export default function WordDiff({ before, after }: { before: string; after: string }) {
  const changes = useMemo(() => presentableDiff(before, after, diffConfig), [before, after])
  const last = changes.at(-1)
  return (
    <div className={css['words']} dir="auto" data-answer>
      {changes.map(({ fromA, toA, fromB, toB }, at) => (
        <Fragment key={fromB}>
          {withSigns(after.slice(changes[at - 1]?.toB ?? 0, fromB))}
          {toA > fromA && <del>{withSigns(before.slice(fromA, toA))}</del>}
          {toB > fromB && <ins>{withSigns(after.slice(fromB, toB))}</ins>}
        </Fragment>
      ))}
      {withSigns(after.slice(last?.toB ?? 0))}
    </div>
  )
}
