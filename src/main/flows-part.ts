/** All that flows need, for whoever has any: in a build a part of its own, that a config without flows does not load. */
export {
  checkFlow,
  compileFlow,
  Flows,
  flowDot,
  flowLines,
  flowMermaid,
  stepReasonText,
  stepsByStage,
} from '../actors/flow/index.ts';
