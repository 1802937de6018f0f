// The marks that the report's charts use; everything else of the library stays outside.
export { areaY, axisX, axisY, dot, line, plot, rect, rectX, rectY, ruleX, ruleY, text } from "@observablehq/plot";
