"""The papers that reviewers require of a release, each a list of fields: ``TEMPLATES``.

To add one is to add a list. Fields have the titles and the order of their source, and name where it
requires them. What a release can answer is filled in by ``answers`` and ``risks``; the rest is
marked to be written.
"""

from collections.abc import Mapping
from functools import partial

from anonymizer.report.page.answers import (
    adversaries,
    attacks,
    confirmed,
    described,
    distinguished,
    identifiers,
    inference,
    left_open,
    linkability,
    minimised,
    noise,
    others,
    policy,
    pseudonyms,
    queries,
    search,
    singling_out,
    size,
    software,
    subjects,
    techniques,
    utility,
    verified,
    warned,
)
from anonymizer.report.page.paper import PaperField, PaperTemplate
from anonymizer.report.page.risks import held_against, initial_risk, residual_risk

NINE = partial(held_against, 0.09)
BEFORE = "which initial risk is reported, where this paper has none"


STEP = "anonymisation process, step {}".format
REPORT = "anonymisation report"

EMA = PaperTemplate(
    "Anonymisation report (EMA Policy 0070)",
    "External guidance on the implementation of the European Medicines Agency policy on the "
    "publication of clinical data for medicinal products for human use (EMA/90915/2016), chapter "
    "3: anonymisation process and anonymisation report",
    (
        PaperField(
            "Identification of data variables: direct identifiers and quasi-identifiers",
            STEP(1),
            "which of the removed columns are direct identifiers, and why each other column is "
            "or is not a quasi-identifier",
            (identifiers,),
        ),
        PaperField(
            "Possible adversaries and plausible attacks on the data",
            STEP(2),
            "who may want to re-identify participants, by what means, and in which context the "
            "data are disclosed",
            (adversaries, left_open),
        ),
        PaperField(
            "Data utility considerations",
            STEP(3),
            "what the data are to be used for, and whether they still serve it",
            (utility,),
        ),
        PaperField(
            "Risk threshold",
            STEP(4),
            "why this threshold is acceptable, and whether it is read strictly or rounded",
            (NINE,),
        ),
        PaperField("Initial risk of re-identification", STEP(5), BEFORE, (initial_risk,)),
        PaperField(
            "Residual risk of re-identification",
            f"{STEP(5)} and {REPORT}",
            "whether the residual risk is acceptable",
            (residual_risk, attacks, warned),
        ),
        PaperField(
            "Anonymisation methodology",
            f"{STEP(6)} and {REPORT}",
            "the rationale for the techniques, and for preferring them to others",
            (policy, techniques),
        ),
        PaperField(
            "Documentation of the anonymisation methodology and process",
            STEP(7),
            "",
            (search, software, verified),
        ),
        PaperField(
            "Fulfilment of the three criteria: singling out, linkability, inference",
            f"{REPORT}, as the alternative to an analysis of the risk",
            "whether the report rests on the three criteria or on the analysis of the risk",
            (confirmed,),
        ),
        PaperField("Conclusion", REPORT, "the conclusion, with name, date and signature"),
    ),
)

PRCI = "anonymization report"

HEALTH_CANADA = PaperTemplate(
    "Anonymization report (Health Canada, Public Release of Clinical Information)",
    "Health Canada, Public Release of Clinical Information: guidance document (12 March 2019), and "
    "the anonymization report template that Health Canada and the EMA have in common",
    (
        PaperField(
            "Anonymization methodology",
            f"{PRCI}, methodology",
            "the rationale for the methodology, and for redaction in place of a transformation",
            (policy, techniques),
        ),
        PaperField(
            "Directly identifying variables and indirectly identifying variables",
            f"{PRCI}, identification of data variables",
            "why each variable is directly identifying, indirectly identifying or neither: is "
            "it replicable, distinguishable and knowable",
            (identifiers,),
        ),
        PaperField(
            "Adversaries and plausible attacks",
            f"{PRCI}, risk assessment",
            "the context of the release, and the attacks that are plausible in it",
            (adversaries, left_open),
        ),
        PaperField(
            "Initial risk of re-identification", f"{PRCI}, risk assessment", BEFORE, (initial_risk,)
        ),
        PaperField(
            "Risk threshold",
            f"{PRCI}, risk assessment",
            "why this threshold is applied, and whether it is read strictly or rounded",
            (NINE,),
        ),
        PaperField(
            "Residual risk of re-identification",
            f"{PRCI}, risk assessment",
            "whether there is a serious possibility that somebody is identified, alone or with "
            "other available information",
            (residual_risk, attacks, warned),
        ),
        PaperField(
            "Data utility",
            f"{PRCI}, data utility considerations",
            "whether the data still serve a re-analysis, and what of their usefulness was lost",
            (utility,),
        ),
        PaperField(
            "Conclusion",
            f"{PRCI}, conclusion",
            "the conclusion, with name, date and signature",
            (verified,),
        ),
    ),
)

RULE = "45 CFR 164.514"
OCR = "OCR guidance of 26 November 2012, “{}”".format
PRINCIPLES = OCR("How do experts assess the risk of identification of information?")
MITIGATION = OCR("What are the approaches by which an expert mitigates the risk of identification?")
ACCEPTABLE = OCR("What is an acceptable level of identification risk for an expert determination?")
CODES = OCR("Can an expert determine a code derived from PHI is de-identified?")

HIPAA_EXPERT = PaperTemplate(
    "Expert determination (HIPAA)",
    "45 CFR 164.514(b)(1), and the guidance of the Office for Civil Rights regarding methods for "
    "de-identification of protected health information (26 November 2012)",
    (
        PaperField(
            "Person with appropriate knowledge and experience",
            f"{RULE}(b)(1); {OCR('Who is an expert?')}",
            "name of the expert, training, and experience with methods for rendering "
            "information not individually identifiable",
        ),
        PaperField(
            "Information that is determined",
            f"{RULE}(b)(1)",
            "where the information is from, and which covered entity has it",
            (described, size, subjects),
        ),
        PaperField(
            "Anticipated recipient",
            f"{RULE}(b)(1)(i)",
            "who receives the information, for what use, under which controls",
        ),
        PaperField(
            "Other reasonably available information",
            f"{RULE}(b)(1)(i); {PRINCIPLES}, data source availability",
            "which sources the recipient can reasonably have, and which columns they share with "
            "the release",
            (adversaries,),
        ),
        PaperField(
            "Replicability",
            f"{PRINCIPLES}, replicability",
            "which variables occur consistently in relation to a person",
            (identifiers,),
        ),
        PaperField(
            "Distinguishability",
            f"{PRINCIPLES}, distinguishability",
            "which combinations of variables distinguish people in the population",
            (distinguished, warned),
        ),
        PaperField(
            "Generally accepted statistical and scientific principles and methods",
            f"{RULE}(b)(1)(i); {MITIGATION}",
            "why these principles and methods are appropriate",
            (policy, techniques),
        ),
        PaperField(
            "Assessment of the risk",
            f"{PRINCIPLES}, assess risk",
            "what other analyses and attacks found",
            (residual_risk, attacks, left_open),
        ),
        PaperField(
            "Determination that the risk is very small",
            f"{RULE}(b)(1)(i); {ACCEPTABLE}",
            "the determination and its grounds; the rule has no number for a very small risk",
        ),
        PaperField(
            "Methods and results of the analysis that justify the determination",
            f"{RULE}(b)(1)(ii)",
            "",
            (search, software, verified),
        ),
        PaperField(
            "Codes derived from protected health information",
            f"{RULE}(c); {CODES}",
            "whether anybody can translate a code, and how the mechanism is kept secret",
            (pseudonyms,),
        ),
        PaperField(
            "Period for which the determination is valid",
            OCR("How long is an expert determination valid for a given data set?"),
            "until when the determination holds, and what makes a new one necessary",
        ),
        PaperField(
            "Several solutions from the same data set",
            OCR("Can an expert derive multiple solutions from the same data set for a recipient?"),
            "which other data sets were derived from it, and why they cannot be combined",
        ),
        PaperField(
            "Data use agreement",
            OCR("Must a covered entity use a data use agreement?"),
            "whether the determination rests on an agreement, and what it forbids; the rule "
            "requires none",
        ),
        PaperField("Signature", f"{RULE}(b)(1)(ii)", "date and signature of the expert"),
    ),
)

ADVICE = "section 5.2, recommendations: {}".format

WP216 = PaperTemplate(
    "Singling out, linkability and inference (WP216)",
    "Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216)",
    (
        PaperField(
            "Singling out",
            "executive summary, “is it still possible to single out an individual”; section 3",
            "the answer, and why",
            (singling_out, residual_risk),
        ),
        PaperField(
            "Linkability",
            "executive summary, “is it still possible to link records relating to an individual”; "
            "section 3",
            "the answer, and which other data sets recipients can have",
            (linkability,),
        ),
        PaperField(
            "Inference",
            "executive summary, “can information be inferred concerning an individual”; section 3",
            "the answer, and why",
            (inference, left_open),
        ),
        PaperField(
            "New risks and re-evaluation of the residual risk",
            ADVICE("general"),
            "when risks are looked at again, whether the controls suffice, and who monitors them",
            (attacks, warned),
        ),
        PaperField(
            "Identification potential of the non-anonymised portion of the data set",
            ADVICE("general"),
            "correlations of these columns with the others",
            (others,),
        ),
        PaperField(
            "Purposes of the anonymised data set", ADVICE("contextual elements"), "the purposes"
        ),
        PaperField(
            "Nature of the original data",
            ADVICE("contextual elements"),
            "where the data are from, and how sensitive they are",
            (described, subjects),
        ),
        PaperField(
            "Control mechanisms in place",
            ADVICE("contextual elements"),
            "who has access, under which security measures",
        ),
        PaperField("Sample size", ADVICE("contextual elements"), "", (size,)),
        PaperField(
            "Availability of public information resources",
            ADVICE("contextual elements"),
            "the registers and other sources that recipients may rely on",
        ),
        PaperField(
            "Envisaged release of data to third parties",
            ADVICE("contextual elements"),
            "whether the release is limited or not",
        ),
        PaperField(
            "Possible attackers",
            ADVICE("contextual elements"),
            "the appeal of the data for targeted attacks",
            (adversaries,),
        ),
        PaperField(
            "Anonymisation technique, or mix of techniques, that is implemented",
            ADVICE("technical elements"),
            "",
            (policy, verified),
        ),
        PaperField(
            "Obvious attributes and quasi-identifiers",
            ADVICE("technical elements"),
            "whether a rare attribute is left",
            (identifiers,),
        ),
        PaperField("Noise", ADVICE("technical elements"), "", (noise,)),
        PaperField(
            "Track of queries, under differential privacy",
            ADVICE("technical elements"),
            "how queries are kept track of, where others than this release are answered",
            (queries,),
        ),
        PaperField(
            "Generalization criteria",
            ADVICE("technical elements"),
            "why each attribute has this granularity",
            (techniques,),
        ),
    ),
)

ISO_27559 = PaperTemplate(
    "De-identification framework (ISO/IEC 27559:2022)",
    "ISO/IEC 27559:2022, Privacy enhancing data de-identification framework",
    (
        PaperField(
            "Threat modelling: security and privacy practices",
            "6.2.2",
            "the practices of the recipient, and of the environment that the data are in",
        ),
        PaperField(
            "Threat modelling: motives and capacity to re-identify",
            "6.2.3",
            "who has a motive, and with which means",
            (adversaries,),
        ),
        PaperField(
            "Transparency of actions and stakeholder engagement",
            "6.3.2",
            "who knows of the release, and who was consulted",
        ),
        PaperField(
            "Privacy-related harms",
            "6.3.3",
            "the harms to people whose data are re-identified or misused",
        ),
        PaperField("Data principals", "7.2.2", "who they are", (subjects,)),
        PaperField("Data type", "7.2.3", "what the columns mean", (described,)),
        PaperField("Attribute types", "7.2.4", "why each attribute is of its type", (identifiers,)),
        PaperField("Dataset properties", "7.2.5", "", (size, distinguished)),
        PaperField(
            "Attack modelling: maximum or average risk",
            "7.3.2",
            "whether the maximum or the average risk applies, and why",
            (residual_risk,),
        ),
        PaperField(
            "Attack modelling: population or sample-based attack",
            "7.3.3",
            "whether an attacker can know who is in the table: the prosecutor's risk is that of "
            "the sample, the journalist's that of a population",
        ),
        PaperField("Attack modelling: data privacy models", "7.3.4", "", (policy, left_open)),
        PaperField(
            "Assessing identifiability: quantifying identifiability",
            "8.2.2",
            "the threshold, and whether it is met",
            (inference, warned),
        ),
        PaperField(
            "Assessing identifiability: adversarial testing",
            "8.2.3",
            "which other attacks were tried, and what they found",
            (attacks,),
        ),
        PaperField(
            "Mitigation: reconfiguring the environment",
            "8.3.2",
            "changes of access, contracts and controls",
        ),
        PaperField("Mitigation: transforming the data", "8.3.3", "", (techniques, utility)),
        PaperField("Mitigation: re-evaluation", "8.3.4", "", (search, verified)),
        PaperField(
            "Before data are made available: assigning roles and responsibilities",
            "9.2.2",
            "who is responsible for what",
        ),
        PaperField(
            "Before data are made available: establishing principles, policies and procedures",
            "9.2.3",
            "the principles, policies and procedures",
        ),
        PaperField(
            "Before data are made available: identifying and managing a data disclosure",
            "9.2.4",
            "which disclosures there are, and how they are managed",
        ),
        PaperField(
            "Before data are made available: communicating with stakeholders",
            "9.2.5",
            "what stakeholders learn, and when",
        ),
        PaperField(
            "After data are made available: monitoring the data environment",
            "9.3.2",
            "what is monitored, and when the assessment is made again",
        ),
        PaperField(
            "Mitigation in case of incident",
            "9.4",
            "what is done in case of an incident, and by whom",
        ),
    ),
)

ANNEX = "GDPR {}; WP248, Annex 2".format

DPIA = PaperTemplate(
    "Data protection impact assessment",
    "Regulation (EU) 2016/679 (GDPR), Article 35(7), and Article 29 Data Protection Working Party, "
    "Guidelines on Data Protection Impact Assessment (WP248 rev.01), Annex 2",
    (
        PaperField(
            "Systematic description: nature, scope, context and purposes of the processing",
            ANNEX("Article 35(7)(a) and recital 90"),
            "nature, scope, context and purposes, and the legitimate interest where there is one",
        ),
        PaperField(
            "Systematic description: personal data, recipients and storage period",
            ANNEX("Article 35(7)(a)"),
            "the recipients, and for how long original and release are stored",
            (described, size),
        ),
        PaperField(
            "Systematic description: functional description of the processing operation",
            ANNEX("Article 35(7)(a)"),
            "how the data are collected, and what happens after the release",
            (techniques,),
        ),
        PaperField(
            "Systematic description: assets on which personal data rely",
            ANNEX("Article 35(7)(a)"),
            "hardware, networks, people, paper and transmission channels",
            (software,),
        ),
        PaperField(
            "Systematic description: compliance with approved codes of conduct",
            ANNEX("Article 35(8)"),
            "the codes of conduct, or that there are none",
        ),
        PaperField(
            "Necessity and proportionality: specified, explicit and legitimate purposes",
            ANNEX("Articles 35(7)(b) and 5(1)(b)"),
            "the purposes",
        ),
        PaperField(
            "Necessity and proportionality: lawfulness of the processing",
            ANNEX("Articles 35(7)(b) and 6"),
            "the legal basis",
        ),
        PaperField(
            "Necessity and proportionality: adequate, relevant and limited data",
            ANNEX("Articles 35(7)(b) and 5(1)(c)"),
            "why each column that is left is necessary",
            (minimised,),
        ),
        PaperField(
            "Necessity and proportionality: limited storage duration",
            ANNEX("Articles 35(7)(b) and 5(1)(e)"),
            "the duration",
        ),
        PaperField(
            "Rights of the data subjects: information",
            ANNEX("Articles 12, 13 and 14"),
            "what data subjects learn, and how",
        ),
        PaperField(
            "Rights of the data subjects: access and portability",
            ANNEX("Articles 15 and 20"),
            "how access is given, and how data are carried over",
        ),
        PaperField(
            "Rights of the data subjects: rectification and erasure",
            ANNEX("Articles 16, 17 and 19"),
            "how data are corrected and erased, also after a release",
        ),
        PaperField(
            "Rights of the data subjects: objection and restriction",
            ANNEX("Articles 18, 19 and 21"),
            "how a data subject objects",
        ),
        PaperField(
            "Relationships with processors",
            ANNEX("Article 28"),
            "the processors and their contracts",
        ),
        PaperField(
            "Safeguards surrounding international transfers",
            ANNEX("Chapter V"),
            "the transfers and their safeguards",
        ),
        PaperField(
            "Prior consultation",
            ANNEX("Article 36"),
            "whether the supervisory authority was consulted",
        ),
        PaperField(
            "Risks: origin, nature, particularity and severity",
            ANNEX("Article 35(7)(c) and recital 84"),
            "origin, nature and particularity of each risk: illegitimate access, undesired "
            "modification and disappearance of data",
        ),
        PaperField(
            "Risks: risk sources",
            ANNEX("Article 35(7)(c) and recital 90"),
            "the risk sources",
            (adversaries,),
        ),
        PaperField(
            "Risks: potential impacts on the rights and freedoms of data subjects",
            ANNEX("Article 35(7)(c)"),
            "what people suffer who are found, or of whom something is deduced",
            (confirmed,),
        ),
        PaperField(
            "Risks: threats",
            ANNEX("Article 35(7)(c)"),
            "other threats",
            (attacks, warned, left_open),
        ),
        PaperField(
            "Risks: likelihood and severity",
            ANNEX("Article 35(7)(c) and recital 90"),
            "likelihood and severity of each risk",
            (residual_risk,),
        ),
        PaperField(
            "Measures envisaged to treat the risks",
            ANNEX("Article 35(7)(d) and recital 90"),
            "organisational and other technical measures",
            (policy, verified),
        ),
        PaperField(
            "Advice of the data protection officer",
            ANNEX("Article 35(2)"),
            "the advice, and what followed from it",
        ),
        PaperField(
            "Views of data subjects or their representatives",
            ANNEX("Article 35(9)"),
            "their views, or why they were not sought",
        ),
    ),
)

TEMPLATES: Mapping[str, PaperTemplate] = {
    "ema": EMA,
    "health-canada": HEALTH_CANADA,
    "hipaa-expert": HIPAA_EXPERT,
    "wp216": WP216,
    "iso-27559": ISO_27559,
    "dpia": DPIA,
}
"""The papers by the names that ``report --for`` has for them."""
