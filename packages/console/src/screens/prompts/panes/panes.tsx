import { type CSSProperties, type ReactNode, useState } from 'react'
import { join } from '../../../ui/button.tsx'
import { Tabs } from '../../../ui/table.tsx'
import { type PaneLayout, type PaneName, usePaneWidths } from './layout.ts'
import css from './panes.module.css'
import { Splitter } from './splitter.tsx'

interface PanesProps {
  panes: PaneLayout
  tree: ReactNode
  /** Whether a prompt is open, so that there are tabs and panels. */
  hasPanels: boolean
  /** A head, the tabs and the other panes. */
  children: ReactNode
}

/**
 * The tree, and beside it the open prompt. Every pane keeps its place in React's tree in all layouts, so that no input
 * is lost when the window or the tab changes.
 */
export function Panes({ panes, tree, hasPanels, children }: PanesProps) {
  const [widths, setWidths] = usePaneWidths()
  return (
    <div
      className={css['panes']}
      data-layout={panes.layout}
      data-empty={!hasPanels || undefined}
      data-full={(hasPanels && panes.chosen === 'examples') || undefined}
      style={{ '--tree': `${widths.tree}px`, '--side': `${widths.side}px` } as CSSProperties}
    >
      <Pane name="tree" panes={panes}>
        {tree}
      </Pane>
      {panes.layout !== 'narrow' && (
        <Splitter
          label="Width of the list"
          keys="r l"
          pane="list"
          width={widths.tree}
          range={[180, 480]}
          onChange={(next) => setWidths({ tree: next })}
        />
      )}
      {hasPanels && panes.layout === 'wide' && panes.chosen !== 'examples' && (
        <Splitter
          label="Width of the panel"
          keys="r p"
          pane="panel"
          width={widths.side}
          range={[300, 900]}
          fromEnd
          onChange={(next) => setWidths({ side: next })}
        />
      )}
      {children}
    </div>
  )
}

const tabTexts: Record<PaneName, string> = {
  tree: 'Prompts',
  text: 'Text',
  run: 'Run',
  examples: 'Examples',
  parameters: 'Parameters',
  preview: 'Preview',
  references: 'References',
  use: 'Use',
}

export function PaneTabs({ panes: { tabs, chosen, choose } }: { panes: PaneLayout }) {
  return (
    <div className={css['tabs']}>
      <Tabs
        id="prompt"
        label="Parts of the prompt"
        tabs={tabs.map((name) => ({ name, text: tabTexts[name] }))}
        current={chosen}
        onChange={choose}
      />
    </div>
  )
}

/** A part of the screen. Its contents are made when it is first shown, and stay from then on. */
export function Pane({ name, panes, children }: { name: PaneName; panes: PaneLayout; children: ReactNode }) {
  const isShown = panes.isShown(name)
  const wasShown = useHasBeen(isShown)
  return (
    <section
      className={join(css['pane'], css[name === 'tree' || name === 'text' ? name : 'panel'])}
      hidden={!isShown}
      {...(panes.isTab(name) && {
        id: `prompt-panel-${name}`,
        role: 'tabpanel',
        'aria-labelledby': `prompt-tab-${name}`,
      })}
    >
      {wasShown && children}
    </section>
  )
}

/** Stays true after `isNow` was true once. */
export function useHasBeen(isNow: boolean): boolean {
  const [hasBeen, setHasBeen] = useState(isNow)
  if (isNow && !hasBeen) setHasBeen(true)
  return hasBeen
}
