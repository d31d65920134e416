// What visitors of the showcase send. Its report is the one of the longer visits.

export { NotApplicable, finish, step } from './report.mjs';

/** The answer to the question of `allot_berth`. */
export const BERTH = { berth: 'grain-pier', hours: 6, shore_power: true };

/** Arguments of `under_keel` for a vessel that stays afloat. */
export const KEEL = { charted_depth: 8, tide: 2, draught: 6.8 };

/** Arguments of the prompt `passage_plan`. */
export const PASSAGE = { call_sign: 'RECK', berth: 'grain-pier', hours: '1.5' };
