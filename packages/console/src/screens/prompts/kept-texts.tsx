import { getRouteApi } from '@tanstack/react-router'
import { copiesIn } from '../../editor/buffer/unsaved-copy.ts'
import { NotSaved } from '../../editor/frame/offered-copy.tsx'
import { CopyButton } from '../../ui/copy.tsx'

const versionRoute = getRouteApi('/shell/p/$project/v/$version')

/** Texts that an ended page could not save in the version of the address, where no editor can offer them. */
export function KeptTexts() {
  const { project, version } = versionRoute.useParams()
  const own = copiesIn(Number(project)).filter(({ versionUuid }) => versionUuid === version)
  if (own.length === 0) return null
  return (
    <section aria-label="Unsaved texts">
      {own.map(({ key, path, copy }) => (
        <NotSaved key={key} {...{ copy, path }} actions={<CopyButton text={copy.text} label="Copy it" />}>
          .
        </NotSaved>
      ))}
    </section>
  )
}
