/** Words that a new project must be able to use: names that are common for records, many of them also names in this project. */

const COMMON = `account address alert answer appointment article asset author batch bill bookmark booking branch budget campaign
  card case category channel claim client comment company contact contract coupon course customer delivery device document driver
  employee entry event exam expense file form game gift group guest invoice issue item job label lead lesson license link list
  loan location measurement meeting member message metric news note notice offer option order package page parcel patient payment
  permit person player policy post price product profile project question rating reading receipt record report request reservation
  resource review role room rule sale schedule sensor service session shipment shop site song store story student subject survey
  tag task team test ticket tool topic track transaction transfer trip unit user vehicle vendor version visit vote wallet worker`;

export const WORDS: readonly string[] = [...COMMON.split(/\s+/), 'change', 'sheep', 'line item'];
